-- KEYS: the workspace's commands, hits; ARGV: at, how many commands are kept and for how long, how many come, those, then names of rules
local recent, hits = KEYS[1], KEYS[2]
local at, most, keep, count = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
for i = 5, 4 + count do redis.call('LPUSH', recent, ARGV[i]) end
if count > 0 then
  redis.call('LTRIM', recent, 0, most - 1)
  redis.call('PEXPIRE', recent, keep)
end
for i = 5 + count, #ARGV do
  redis.call('HINCRBY', hits, 'n:' .. ARGV[i], 1)
  redis.call('HSET', hits, 't:' .. ARGV[i], at)
end
