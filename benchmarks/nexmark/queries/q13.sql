select b.id, b.auction, b.bidder, b.price, b.date_time, s.value
from bid b join side_input s on b.auction % 50 = s.key
