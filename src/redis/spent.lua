-- KEYS: the day, the request; ARGV: its tokens, its cost ('' for unknown), for how long both are kept
local day, request = KEYS[1], KEYS[2]
local now = { tokens = ARGV[1], cost = ARGV[2] }

for _, field in ipairs({ 'tokens', 'cost' }) do
  local was = redis.call('HGET', request, field)
  if now[field] ~= '' or was then
    local booked = now[field] ~= '' and now[field] or 0
    redis.call('HINCRBY', day, field, string.format('%d', booked - (was or 0)))
    redis.call('HSET', request, field, booked)
  end
end
redis.call('PEXPIRE', day, ARGV[3])
redis.call('PEXPIRE', request, ARGV[3])
return redis.call('HMGET', day, 'tokens', 'cost')
