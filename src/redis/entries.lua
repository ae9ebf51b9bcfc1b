-- Comes before ingest, append and decide. They share their first six keys, and the ways in which a log grows.
local state, log, dirty, odirty, open, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

-- The approval's own record: conv, call, requester, asked (seq), decided (seq). Its name is known only in here,
-- which a cluster allows because all keys share one slot.
local function record(approval)
  return '{dh}:a:' .. approval
end

-- Adds one line; more fields may follow the body. HINCRBY first: a full Redis refuses it before anything is written.
local function push(epoch, at, body, ...)
  local seq = redis.call('HINCRBY', state, 'seq', 1)
  redis.call('XADD', log, seq .. '-0', 'v', 1, 'e', epoch, 't', at, 'b', body, ...)
  return seq
end

-- The thread has something to post and was active.
local function grown(conv, at)
  redis.call('ZADD', odirty, 'NX', at, conv)
  redis.call('ZADD', open, 'GT', at, conv)
end

-- A worker has something to do since `at`.
local function wake(conv, seq, at)
  redis.call('HSET', state, 'in', seq)
  redis.call('ZADD', dirty, 'NX', at, conv)
  redis.call('PUBLISH', '{dh}:ctl', conv)
end

-- From now on the decision in entry `seq` stands. `keep` is how long a late click still gets its answer.
local function closed(approval, seq, keep)
  redis.call('HSET', record(approval), 'decided', seq)
  redis.call('PEXPIRE', record(approval), keep)
  redis.call('ZREM', due, approval)
  if redis.call('HGET', state, 'ap') == approval then redis.call('HDEL', state, 'ap') end
end

-- Decides an open approval with an input. The body lacks what only the record knows: approval, call and parent.
local function decided(approval, at, body, keep)
  local asked = redis.call('HMGET', record(approval), 'call', 'asked')
  local seq = push(0, at, body, 'a', approval, 'c', asked[1], 'p', asked[2])
  closed(approval, seq, keep)
  return seq
end
