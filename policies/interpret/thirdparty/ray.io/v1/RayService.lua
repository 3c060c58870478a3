-- RayService, ray.io/v1: https://ray-project.github.io/kuberay/reference/api/#rayservice

local kube = require("kube")

-- sums adds up counters over the clusters.
local function sums(status, items, counters)
  for _, key in ipairs(counters) do
    local total = 0
    for _, item in ipairs(items) do
      total = total + ((item.status or {})[key] or 0)
    end
    status[key] = total
  end
end

-- current says whether the status is about the spec as it stands.
local function current(obj)
  return obj.status ~= nil and (obj.status.observedGeneration or 0) == (obj.metadata.generation or 0)
end

-- condition finds a condition by its type; an empty one if there is none.
local function condition(status, name)
  for _, c in ipairs((status or {}).conditions or {}) do
    if c.type == name then
      return c
    end
  end
  return {}
end

-- said joins what the clusters say, each after its name.
local function said(items, read)
  local parts = {}
  for _, item in ipairs(items) do
    local text = read(item.status or {})
    if text and text ~= "" then
      table.insert(parts, item.clusterName .. ": " .. text)
    end
  end
  return #parts > 0 and table.concat(parts, "; ") or nil
end

-- merged makes one condition of each type. Those in all are True where every cluster
-- says so, and Unknown if one says nothing; any other is True where one cluster says so.
local function merged(items, all)
  local conditions, seen = {}, {}
  for _, item in ipairs(items) do
    for _, c in ipairs((item.status or {}).conditions or {}) do
      if not seen[c.type] then
        seen[c.type] = true
        table.insert(conditions, { type = c.type })
      end
    end
  end
  for _, one in ipairs(conditions) do
    local order = all[one.type] and "False Unknown True" or "True Unknown False"
    for _, item in ipairs(items) do
      local c = condition(item.status, one.type)
      local status = c.status or (all[one.type] and "Unknown" or "False")
      if not one.status or string.find(order, status) < string.find(order, one.status) then
        one.status, one.reason = status, c.reason or "NotReported"
      end
      if (c.lastTransitionTime or "") > (one.lastTransitionTime or "") then
        one.lastTransitionTime = c.lastTransitionTime
      end
    end
    one.message = said(items, function(s)
      return condition(s, one.type).message
    end)
  end
  return #conditions > 0 and conditions or nil
end

-- worst returns the state that comes first in order, in which "" stands for none; a
-- state that nobody knows comes before all.
local function worst(items, read, order)
  local rank, found = {}, nil
  for i, state in ipairs(order) do
    rank[state] = i
  end
  for _, item in ipairs(items) do
    local state = read(item.status or {}) or ""
    if not found or (rank[state] or 0) < (rank[found] or 0) then
      found = state
    end
  end
  return found ~= "" and found or nil
end

-- append adds all of one list to another.
local function append(list, more)
  for _, v in ipairs(more or {}) do
    table.insert(list, v)
  end
end

-- largest asks of each resource for the most that one of several pods asks for.
local function largest(needs)
  local request = {}
  for _, one in ipairs(needs) do
    for name, q in pairs(one.resourceRequest or {}) do
      if not request[name] or kube.getResourceQuantity(q) > kube.getResourceQuantity(request[name]) then
        request[name] = q
      end
    end
  end
  return next(request) and { nodeClaim = needs[1].nodeClaim, resourceRequest = request } or nil
end

-- references adds what the pods of a Ray cluster need, its autoscaler and its
-- store of the head's state among them.
local function references(found, spec, namespace)
  local scaler, redis = spec.autoscalerOptions or {}, spec.gcsFaultToleranceOptions or {}
  local env = {}
  append(env, { redis.redisUsername })
  append(env, { redis.redisPassword })
  append(env, scaler.env)
  append(found, kube.getPodDependencies({ spec = { containers = {
    { name = "ray-head", env = env[1] and env, envFrom = scaler.envFrom },
  } } }, namespace))
  append(found, kube.getPodDependencies(spec.headGroupSpec.template, namespace))
  for _, group in ipairs(spec.workerGroupSpecs or {}) do
    append(found, kube.getPodDependencies(group.template, namespace))
  end
end

-- groups are the groups of workers.
local function groups(obj)
  return obj.spec.rayClusterConfig.workerGroupSpecs or {}
end

-- workers counts the workers of all groups.
local function workers(obj)
  local n = 0
  for _, group in ipairs(groups(obj)) do
    n = n + (group.replicas or 0)
  end
  return n
end

-- The replicas are the workers: every cluster needs a head of its own.
function GetReplicas(obj)
  local needs = {}
  for _, group in ipairs(groups(obj)) do
    append(needs, { kube.accuratePodRequirements(group.template) })
  end
  return workers(obj), largest(needs)
end

-- The groups keep their shares, rounded so that nothing is lost. Their bounds give
-- way, for the operator would overrule the replicas by them.
function ReviseReplica(obj, n)
  local total, seen, given = workers(obj), 0, 0
  for _, group in ipairs(groups(obj)) do
    seen = seen + (group.replicas or 0)
    local upTo = total > 0 and math.ceil(seen * n / total) or n
    group.replicas, given = upTo - given, upTo
    group.minReplicas = group.minReplicas and math.min(group.minReplicas, group.replicas)
    group.maxReplicas = group.maxReplicas and math.max(group.maxReplicas, group.replicas)
  end
  return obj
end

function InterpretHealth(obj)
  local s = obj.status or {}
  return current(obj) and (s.serviceStatus == "Running" or condition(s, "Ready").status == "True")
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, { "numServeEndpoints" })
  status.serviceStatus = worst(items, function(s)
    return s.serviceStatus
  end, {
    "FailedToGetOrCreateRayCluster", "FailedToGetServeDeploymentStatus", "FailedToUpdateServingPodLabel",
    "FailedToUpdateService", "Restarting", "WaitForServeDeploymentReady", "", "Running",
  })
  status.conditions = merged(items, { Ready = true })
  obj.status = status
  return obj
end

function GetDependencies(obj)
  local found = {}
  references(found, obj.spec.rayClusterConfig, obj.metadata.namespace)
  return found
end
