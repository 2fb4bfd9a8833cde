select id, auction, bidder, 0.908 * price as price, date_time, extra from bid
