-- RayCluster, ray.io/v1: https://ray-project.github.io/kuberay/reference/api/#raycluster

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

-- cluster adds the pods of a Ray cluster: the head, and the groups of workers.
local function cluster(components, spec)
  table.insert(components, {
    name = "ray-head", replicas = 1, replicaRequirements = kube.accuratePodRequirements(spec.headGroupSpec.template),
  })
  for _, group in ipairs(spec.workerGroupSpecs or {}) do
    table.insert(components, {
      name = group.groupName,
      replicas = math.max(group.replicas or 0, group.minReplicas or 0) * (group.numOfHosts or 1),
      replicaRequirements = kube.accuratePodRequirements(group.template),
    })
  end
end

-- quantities adds up amounts of resources.
local function quantities(status, items, keys)
  for _, key in ipairs(keys) do
    local total
    for _, item in ipairs(items) do
      local q = (item.status or {})[key]
      if q then
        total = total and kube.resourceAdd(total, q) or q
      end
    end
    status[key] = total
  end
end

function GetComponents(obj)
  local components = {}
  cluster(components, obj.spec)
  return components
end

function InterpretHealth(obj)
  local state = (obj.status or {}).state
  return current(obj) and (state == "ready" or (state == "suspended" and obj.spec.suspend == true))
end

-- The bound of the workers is the largest integer if a group has none.
function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, {
    "readyWorkerReplicas", "availableWorkerReplicas", "desiredWorkerReplicas", "minWorkerReplicas", "maxWorkerReplicas",
  })
  status.maxWorkerReplicas = math.min(status.maxWorkerReplicas, 2147483647)
  quantities(status, items, { "desiredCPU", "desiredMemory", "desiredGPU", "desiredTPU" })
  status.state = worst(items, function(s)
    return s.state
  end, { "failed", "unhealthy", "", "suspended", "ready" })
  status.reason = said(items, function(s)
    return s.reason
  end)
  status.conditions = merged(items, { HeadPodReady = true, RayClusterProvisioned = true })
  obj.status = status
  return obj
end
