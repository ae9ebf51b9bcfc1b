-- KEYS: post
if redis.call('HGET', KEYS[1], 'ep') ~= ARGV[1] then return 'fenced' end
redis.call('HSET', KEYS[1], 'state', ARGV[2])
return 'saved'
