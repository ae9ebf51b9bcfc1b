-- KEYS: post, state, the lock, postdue; ARGV: conversation, token, for how long a lock is taken that nobody has, '' when it must be there, now,
-- what is kept of a thread of which nothing is kept yet, or ''
local post, state, lock, postdue = unpack(KEYS)
local conv, token, lasts, now, begins = unpack(ARGV)
local held = redis.call('GET', lock)
if (not held and lasts == '') or redis.call('HEXISTS', state, 'seq') == 0 then return { 'lost' } end
if held and held ~= token then
  -- Its holder may be dead, and whoever rang has left it to that one: looked at again when the lock has run out.
  if lasts ~= '' then redis.call('ZADD', postdue, 'LT', now + redis.call('PTTL', lock), conv) end
  return { 'lost' }
end
local epoch = redis.call('HINCRBY', post, 'ep', 1)
if not held then redis.call('SET', lock, token, 'PX', lasts) end
if begins ~= '' and redis.call('HSETNX', post, 'state', begins) == 1 then return { 'begun', epoch } end
return { 'taken', epoch, redis.call('HGET', post, 'state') }
