-- KEYS: post, state, odirty
local post, state, odirty = KEYS[1], KEYS[2], KEYS[3]
local conv, epoch, cursor = unpack(ARGV, 1, 3)
if redis.call('HGET', post, 'ep') ~= epoch then return 'fenced' end
if tonumber(redis.call('HGET', state, 'seq') or 0) > tonumber(cursor) then return 'more' end
redis.call('ZREM', odirty, conv)
return 'settled'
