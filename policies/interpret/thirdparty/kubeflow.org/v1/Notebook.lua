-- Notebook, kubeflow.org/v1: https://www.kubeflow.org/docs/components/notebooks/api-reference/notebook-v1/

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

-- stopped says whether the user has put the server to sleep.
local function stopped(obj)
  return (obj.metadata.annotations or {})["kubeflow-resource-stopped"] ~= nil
end

-- A notebook server has one pod, and stays where it is while it sleeps.
function GetReplicas(obj)
  return 1, kube.accuratePodRequirements(obj.spec.template)
end

function InterpretHealth(obj)
  return stopped(obj) or ((obj.status or {}).readyReplicas or 0) >= 1
end

-- The container's state is that of a cluster where it does not run, if there is one.
function AggregateStatus(obj, items)
  local status, states = obj.status or {}, {}
  sums(status, items, { "readyReplicas" })
  status.conditions = merged(items, { Initialized = true, Ready = true, ContainersReady = true, PodScheduled = true })
  for _, item in ipairs(items) do
    local state = (item.status or {}).containerState or {}
    for _, name in ipairs({ "terminated", "waiting", "running" }) do
      states[name] = states[name] or (state[name] and state)
    end
  end
  status.containerState = states.terminated or states.waiting or states.running
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, { "readyReplicas", "containerState", "conditions" })
end
