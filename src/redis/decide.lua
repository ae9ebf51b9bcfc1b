-- KEYS[7] rules, KEYS[8] hits
local conv, approval, at, keep, body = unpack(ARGV, 1, 5)
-- The rule that the decision stores, by name; empty when it stores none.
local name, rule = ARGV[6], ARGV[7]

local stands = redis.call('HGET', record(approval), 'decided')
local kind = 'already'
if not stands then
  if redis.call('HEXISTS', record(approval), 'asked') == 0 then return { 'unknown' } end
  kind = 'won'
  stands = decided(approval, at, body, keep)
  if name ~= '' then
    redis.call('HSET', KEYS[7], name, rule)
    redis.call('HDEL', KEYS[8], 'n:' .. name, 't:' .. name)
  end
  wake(conv, stands, at)
  grown(conv, at)
end
return { kind, redis.call('XRANGE', log, stands .. '-0', stands .. '-0')[1] }
