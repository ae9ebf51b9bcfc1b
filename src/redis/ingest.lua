-- KEYS[7] seen:<event>
local seen = KEYS[7]
local conv, at, keep, seen_time, wakes, kind = unpack(ARGV, 1, 6)
-- `requester`: whose open approval `closing` decides; `*` whosoever, empty nobody's
local opened, workspace, channel, entry, requester, closing, begins = unpack(ARGV, 7, 13)

if redis.call('EXISTS', seen) == 1 then return { 'duplicate' } end
if redis.call('HEXISTS', state, 'seq') == 0 then
  if opened == '' then return { 'unknown' } end
  push(0, at, opened)
  redis.call('HSET', state, 'ws', workspace, 'channel', channel)
elseif begins == '1' then
  return { 'known' }
end

local seq = push(0, at, entry)
redis.call('SET', seen, seq, 'PX', seen_time)
if kind == 'stop' then redis.call('HSET', state, 'stop', seq) end
-- Somebody lets it go on: what it did to earlier workers is forgotten.
if kind == 'retried' then redis.call('HDEL', state, 'takeovers') end

local last, closes = seq, ''
local approval = redis.call('HGET', state, 'ap')
if approval and (requester == '*' or redis.call('HGET', record(approval), 'requester') == requester) then
  closes = approval
  last = decided(approval, at, closing, keep)
end
if wakes == '1' or closes ~= '' then wake(conv, last, at) end
grown(conv, at)
return { 'appended', seq, redis.call('HGET', state, 'ws'), closes }
