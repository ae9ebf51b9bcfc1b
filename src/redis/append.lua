-- ARGV[6...] six of each entry: type, body, and for approvals approval, call, requester, deadline
local conv, epoch, op, at, keep = unpack(ARGV, 1, 5)
local remembered = 16

local held = redis.call('HMGET', state, 'epoch', 'seq', 'ops')
if held[1] ~= epoch then return { 'fenced' } end

-- The last operations of this epoch: {op, first seq, last seq}. A command that is sent again finds itself here.
local ops = cjson.decode(held[3] or '[]')
for _, past in ipairs(ops) do
  if past[1] == op then return { 'appended', redis.call('XRANGE', log, past[2] .. '-0', past[3] .. '-0') } end
end

local first = tonumber(held[2]) + 1
local last = first - 1
for i = 6, #ARGV, 6 do
  local kind, body, approval, call, requester, deadline = unpack(ARGV, i, i + 5)
  -- Only the first decision counts: a press that came before this one stands.
  if kind ~= 'approval-decided' or redis.call('HEXISTS', record(approval), 'decided') == 0 then
    last = push(epoch, at, body)
    if kind == 'approval-asked' then
      redis.call('HSET', state, 'ap', approval)
      redis.call('HSET', record(approval), 'conv', conv, 'call', call, 'requester', requester, 'asked', last)
      redis.call('ZADD', due, deadline, approval)
    elseif kind == 'approval-decided' then
      closed(approval, last, keep)
    end
  end
end

table.insert(ops, { op, first, last })
if #ops > remembered then table.remove(ops, 1) end
redis.call('HSET', state, 'ops', cjson.encode(ops), 'takeovers', 0)
-- A worker that makes progress is not one whose wake was lost.
redis.call('ZADD', dirty, 'XX', at, conv)
grown(conv, at)
-- The whole list, one after the other: its sender knows the rest.
if last - first + 1 == (#ARGV - 5) / 6 then return { 'added', first } end
return { 'appended', redis.call('XRANGE', log, first .. '-0', last .. '-0') }
