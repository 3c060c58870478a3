-- BroadcastJob, apps.kruise.io/v1alpha1: https://openkruise.io/docs/user-manuals/broadcastjob

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

-- report picks fields of the status, and notes which generations they are about.
local function report(obj, fields)
  if not obj.status then
    return nil
  end
  local annotations = obj.metadata.annotations or {}
  local picked = {
    generation = obj.metadata.generation,
    resourceTemplateGeneration = tonumber(annotations["resourcetemplate.karmada.io/generation"]),
  }
  for _, field in ipairs(fields) do
    picked[field] = obj.status[field]
  end
  return picked
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

-- times returns the first and the last of a time; nil unless all clusters report it.
local function times(items, key)
  local first, last
  for _, item in ipairs(items) do
    local t = (item.status or {})[key]
    if not t then
      return nil
    end
    first = (first and first < t) and first or t
    last = (last and last > t) and last or t
  end
  return first, last
end

local counters = { "active", "succeeded", "failed", "desired" }

-- A parallelism that is absent, or a share of the nodes, counts as one.
function GetReplicas(obj)
  local n = obj.spec.parallelism
  return type(n) == "number" and n or 1, kube.accuratePodRequirements(obj.spec.template)
end

function ReviseReplica(obj, n)
  obj.spec.parallelism = n
  return obj
end

function InterpretHealth(obj)
  local phase = (obj.status or {}).phase
  return phase == "running" or phase == "completed" or (phase == "paused" and obj.spec.paused == true)
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, counters)
  status.phase = worst(items, function(s)
    return s.phase
  end, { "failed", "paused", "running", "", "completed" })
  status.conditions = merged(items, { Complete = true })
  status.startTime = status.startTime or (times(items, "startTime"))
  local _, completed = times(items, "completionTime")
  status.completionTime = completed
  obj.status = status
  return obj
end

-- The labels of the pods are the controller's, as those of a Job are.
function Retain(desired, observed)
  local metadata = observed.spec.template.metadata or {}
  if metadata.labels then
    desired.spec.template.metadata = desired.spec.template.metadata or {}
    desired.spec.template.metadata.labels = metadata.labels
  end
  return desired
end

function ReflectStatus(obj)
  return report(obj, { "conditions", "startTime", "completionTime", "phase", unpack(counters) })
end

function GetDependencies(obj)
  return kube.getPodDependencies(obj.spec.template, obj.metadata.namespace)
end
