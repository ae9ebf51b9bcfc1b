-- KEYS: the lease; ARGV: holder, for how long
local holder, ttl = ARGV[1], tonumber(ARGV[2])
local held = redis.call('GET', KEYS[1])
if held and held ~= holder then return 0 end
if ttl > 0 then
  redis.call('SET', KEYS[1], holder, 'PX', ttl)
else
  redis.call('DEL', KEYS[1])
end
return 1
