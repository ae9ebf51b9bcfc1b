-- KEYS: a lock; the doorbell's set of jobs that seem stalled, for that of a job; ARGV: token, how long the lock holds, the job
-- What is not there is not taken anew: it was given back, or has run out.
-- BullMQ's own renewal sets the lock anew, which a full Redis refuses: the command under it would be ended for nothing.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if KEYS[2] then redis.call('SREM', KEYS[2], ARGV[3]) end
return 1
