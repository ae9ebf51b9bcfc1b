local conv, approval, at, keep, body = unpack(ARGV, 1, 5)

local stands = redis.call('HGET', record(approval), 'decided')
local kind = 'already'
if not stands then
  if redis.call('HEXISTS', record(approval), 'asked') == 0 then return { 'unknown' } end
  kind = 'won'
  stands = decided(approval, at, body, keep)
  wake(conv, stands, at)
  grown(conv, at)
end
return { kind, redis.call('XRANGE', log, stands .. '-0', stands .. '-0')[1] }
