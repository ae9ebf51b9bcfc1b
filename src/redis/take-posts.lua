-- KEYS: post, state, the lock; ARGV: token, for how long a lock is taken that nobody has, '' when it must be there
local post, state, lock = KEYS[1], KEYS[2], KEYS[3]
local held = redis.call('GET', lock)
if not held and ARGV[2] ~= '' then held = ARGV[1] else ARGV[2] = '' end
if held ~= ARGV[1] or redis.call('HEXISTS', state, 'seq') == 0 then return { 'lost' } end
local epoch = redis.call('HINCRBY', post, 'ep', 1)
if ARGV[2] ~= '' then redis.call('SET', lock, ARGV[1], 'PX', ARGV[2]) end
return { 'taken', epoch, redis.call('HGET', post, 'state') }
