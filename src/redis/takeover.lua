-- KEYS: state, the doorbell's lock
local state, lock = KEYS[1], KEYS[2]
if redis.call('GET', lock) ~= ARGV[1] or redis.call('HEXISTS', state, 'seq') == 0 then return { 'lost' } end
local epoch = redis.call('HINCRBY', state, 'epoch', 1)
redis.call('HDEL', state, 'ops')
return { 'taken', epoch, redis.call('HINCRBY', state, 'takeovers', 1) }
