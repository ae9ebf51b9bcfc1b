-- KEYS: rules, hits; ARGV: the rule's name
local name = ARGV[1]
if redis.call('HDEL', KEYS[1], name) == 0 then return 0 end
redis.call('HDEL', KEYS[2], 'n:' .. name, 't:' .. name)
return 1
