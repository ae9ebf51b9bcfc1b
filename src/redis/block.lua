-- KEYS: the bucket; ARGV: until, how long an unused bucket is kept
local already = tonumber(redis.call('HGET', KEYS[1], 'blocked') or 0)
redis.call('HSET', KEYS[1], 'blocked', math.max(already, tonumber(ARGV[1])))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
