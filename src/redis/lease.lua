-- KEYS: the lease; ARGV: holder, for how long
local holder, ttl = ARGV[1], tonumber(ARGV[2])
local held = redis.call('GET', KEYS[1])
if held and held ~= holder then return 0 end
if ttl <= 0 then
  redis.call('DEL', KEYS[1])
elseif held then
  -- A full Redis takes this too.
  redis.call('PEXPIRE', KEYS[1], ttl)
else
  redis.call('SET', KEYS[1], holder, 'PX', ttl)
end
return 1
