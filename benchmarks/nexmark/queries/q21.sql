select id, auction, bidder, price, channel, channel_id
from (
    select
        id,
        auction,
        bidder,
        price,
        channel,
        case
            when lower(channel) = 'apple' then '0'
            when lower(channel) = 'google' then '1'
            when lower(channel) = 'facebook' then '2'
            when lower(channel) = 'baidu' then '3'
            else nullif(split_part(url, 'channel_id=', 2), '')
        end as channel_id
    from bid
) as channels
where channel_id is not null
