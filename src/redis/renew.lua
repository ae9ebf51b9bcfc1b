-- KEYS: the doorbell's lock of a job, its set of jobs that seem stalled; ARGV: token, how long the lock holds, the job
-- BullMQ's own renewal sets the lock anew, which a full Redis refuses: the command under it would be ended for nothing.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('SREM', KEYS[2], ARGV[3])
return 1
