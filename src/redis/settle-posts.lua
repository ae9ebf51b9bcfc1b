-- KEYS: post, state, odirty, postdue, a lock of the poster's own
local post, state, odirty, postdue, lock = unpack(KEYS)
-- The last three may be empty: what the poster remembers, when it wants to be woken, the token of that lock.
local conv, epoch, cursor, remembered, at, token = unpack(ARGV, 1, 6)
if redis.call('HGET', post, 'ep') ~= epoch then return 'fenced' end
if remembered ~= '' then redis.call('HSET', post, 'state', remembered) end
if tonumber(redis.call('HGET', state, 'seq') or 0) > tonumber(cursor) then return 'more' end
if at == '' then
  redis.call('ZREM', odirty, conv)
else
  redis.call('ZADD', postdue, at, conv)
  -- It waits on purpose until then, so it is not overdue before.
  redis.call('ZADD', odirty, 'XX', 'GT', at, conv)
end
if token ~= '' and redis.call('GET', lock) == token then redis.call('DEL', lock) end
return 'settled'
