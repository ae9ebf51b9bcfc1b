-- KEYS: the day, the request; ARGV: its tokens, its cost ('' for unknown), for how long both are kept, the most that a request is booked with
local day, request = KEYS[1], KEYS[2]
local now = { tokens = ARGV[1], cost = ARGV[2] }

local function figure(value)
  local number = tonumber(value) or 0
  -- What is no number is not even itself.
  if number ~= number then return 0 end
  return math.floor(math.max(0, math.min(number, tonumber(ARGV[4]))))
end

for _, field in ipairs({ 'tokens', 'cost' }) do
  local was = redis.call('HGET', request, field)
  if now[field] ~= '' or was then
    local booked = figure(now[field])
    redis.call('HINCRBY', day, field, string.format('%d', booked - figure(was)))
    redis.call('HSET', request, field, string.format('%d', booked))
  end
end
redis.call('PEXPIRE', day, ARGV[3])
redis.call('PEXPIRE', request, ARGV[3])
return redis.call('HMGET', day, 'tokens', 'cost')
