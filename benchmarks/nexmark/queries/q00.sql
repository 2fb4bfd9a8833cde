select id, auction, bidder, price, date_time, extra from bid
