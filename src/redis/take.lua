-- KEYS: the buckets; ARGV: now, how long an unused bucket is kept, then burst and tokens a second of each
local now, keep = tonumber(ARGV[1]), ARGV[2]
local clock_error = 5000

local wait, left = 0, {}
for i, bucket in ipairs(KEYS) do
  local burst, rate = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  local kept = redis.call('HMGET', bucket, 'tokens', 'at', 'blocked')
  local tokens, at = tonumber(kept[1] or burst), tonumber(kept[2] or now)
  -- A clock that was set back must not close the bucket until it catches up.
  if at > now + clock_error then tokens = burst end
  tokens = math.min(burst, tokens + math.max(0, now - at) * rate / 1000)
  if tokens < 1 then wait = math.max(wait, math.ceil((1 - tokens) * 1000 / rate)) end
  wait = math.max(wait, tonumber(kept[3] or 0) - now)
  left[i] = tokens - 1
end
if wait > 0 then return math.ceil(wait) end

for i, bucket in ipairs(KEYS) do
  redis.call('HSET', bucket, 'tokens', left[i], 'at', now)
  redis.call('PEXPIRE', bucket, keep)
end
return 0
