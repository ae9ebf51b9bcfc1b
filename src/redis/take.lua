-- KEYS: the buckets; ARGV: now, how long an unused bucket is kept, then of each its burst, tokens a second, and tokens to be left
local now, ttl = tonumber(ARGV[1]), ARGV[2]
local clock_error = 5000

local wait, left = 0, {}
for i, bucket in ipairs(KEYS) do
  local burst, rate, keep = tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  local kept = redis.call('HMGET', bucket, 'tokens', 'at', 'blocked')
  local tokens, at = tonumber(kept[1] or burst), tonumber(kept[2] or now)
  -- A clock that was set back must not close the bucket until it catches up.
  if at > now + clock_error then
    tokens = burst
    redis.call('HDEL', bucket, 'blocked')
    kept[3] = false
  end
  tokens = math.min(burst, tokens + math.max(0, now - at) * rate / 1000)
  local needed = 1 + math.max(0, math.min(keep, burst - 1))
  if tokens < needed then wait = math.max(wait, math.ceil((needed - tokens) * 1000 / rate)) end
  wait = math.max(wait, tonumber(kept[3] or 0) - now)
  left[i] = tokens - 1
end
if wait > 0 then return math.ceil(wait) end

for i, bucket in ipairs(KEYS) do
  redis.call('HSET', bucket, 'tokens', left[i], 'at', now)
  redis.call('PEXPIRE', bucket, ttl)
end
return 0
