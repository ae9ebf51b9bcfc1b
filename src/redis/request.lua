-- KEYS: an approval's record; where it belongs to is known only in here, which a cluster allows because all keys share one slot
local conv, asked = unpack(redis.call('HMGET', KEYS[1], 'conv', 'asked'))
if not conv or not asked then return {} end
local state = '{dh}:c:' .. conv
local workspace, channel = unpack(redis.call('HMGET', state, 'ws', 'channel'))
return { conv, workspace, channel, redis.call('XRANGE', state .. ':log', asked .. '-0', asked .. '-0')[1] }
