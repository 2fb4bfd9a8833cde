select id, auction, price from bid where auction % 23 = 0
