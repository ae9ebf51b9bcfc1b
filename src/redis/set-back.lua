-- KEYS: lists by time; ARGV: now, the furthest ahead that anything is marked on purpose, how many are looked at in one go
for _, key in ipairs(KEYS) do
  for _, conv in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])) do
    redis.call('ZADD', key, ARGV[1], conv)
  end
end
