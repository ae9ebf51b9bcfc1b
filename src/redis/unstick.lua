-- KEYS: BullMQ's deduplication key of a conversation, its delayed jobs (by time * 4096); ARGV: prefix of jobs, furthest time on purpose
-- A job that a clock delayed which was set back since would swallow every ring until then.
local job = redis.call('GET', KEYS[1])
local delayed = job and redis.call('ZSCORE', KEYS[2], job)
if not delayed or delayed / 4096 <= tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[2], job)
redis.call('DEL', KEYS[1], ARGV[1] .. job)
return 1
