-- KEYS: the claims of some workspaces; ARGV: this host, the name of its machine, now, how long the claim lasts
local host, name, now, ttl = unpack(ARGV, 1, 4)

-- All or none: a host that cannot have one must not keep the others from anybody.
local taken = {}
for i, key in ipairs(KEYS) do
  local held = redis.call('HMGET', key, 'host', 'name', 'since')
  if held[1] and held[1] ~= host then table.insert(taken, { i, held[1], held[2], held[3] }) end
end
if #taken > 0 then return taken end

for _, key in ipairs(KEYS) do
  -- A full Redis takes no HSET; what is ours already stays ours.
  if redis.call('EXISTS', key) == 0 then redis.call('HSET', key, 'host', host, 'name', name, 'since', now) end
  redis.call('PEXPIRE', key, ttl)
end
return {}
