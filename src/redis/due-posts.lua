-- KEYS: postdue
local conversations = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, conv in ipairs(conversations) do redis.call('ZREM', KEYS[1], conv) end
return conversations
