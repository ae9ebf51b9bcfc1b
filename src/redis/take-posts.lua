-- KEYS: post, state, the doorbell's lock
local post, state, lock = KEYS[1], KEYS[2], KEYS[3]
if redis.call('GET', lock) ~= ARGV[1] or redis.call('HEXISTS', state, 'seq') == 0 then return { 'lost' } end
return { 'taken', redis.call('HINCRBY', post, 'ep', 1), redis.call('HGET', post, 'state') }
