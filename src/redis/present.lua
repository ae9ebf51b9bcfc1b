-- KEYS: the workers of some workspaces; ARGV: this worker, for how long it counts, '1' when it has ended
local me, lasts, ended = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for _, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if ended then redis.call('ZREM', key, me) end
  -- Who has ended is no worker any more, but its successor may be on the way: nobody is told in between.
  redis.call('ZADD', key, now + lasts, ended and 'ended' or me)
  redis.call('PEXPIRE', key, math.max(lasts, redis.call('PTTL', key)))
end
