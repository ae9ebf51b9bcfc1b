-- KEYS: state, the doorbell's lock, log; ARGV: its token, '1' to leave a suspect alone, how many entries are given at most
local state, lock, log = KEYS[1], KEYS[2], KEYS[3]
local known = redis.call('HMGET', state, 'seq', 'takeovers')
if redis.call('GET', lock) ~= ARGV[1] or not known[1] then return { 'lost' } end
if ARGV[2] == '1' and tonumber(known[2] or 0) > 0 then return { 'suspect' } end
local epoch = redis.call('HINCRBY', state, 'epoch', 1)
redis.call('HDEL', state, 'ops')
return { 'taken', epoch, redis.call('HINCRBY', state, 'takeovers', 1), redis.call('XRANGE', log, '-', '+', 'COUNT', ARGV[3]) }
