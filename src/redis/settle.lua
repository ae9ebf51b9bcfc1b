-- KEYS: state, dirty
local state, dirty = KEYS[1], KEYS[2]
local conv, epoch, upto = unpack(ARGV, 1, 3)
if redis.call('HGET', state, 'epoch') ~= epoch then return 'fenced' end
if tonumber(redis.call('HGET', state, 'in') or 0) > tonumber(upto) then return 'more' end
redis.call('ZREM', dirty, conv)
redis.call('HDEL', state, 'ops', 'takeovers')
return 'settled'
