-- MPIJob, kubeflow.org/v2beta1: https://pkg.go.dev/github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1

local kube = require("kube")

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

-- roles are the names of the replica specs, sorted.
local function roles(specs)
  local names = {}
  for name in pairs(specs or {}) do
    table.insert(names, name)
  end
  table.sort(names)
  return names
end

-- pods adds up the pods of each role by what has become of them.
local function pods(items)
  local totals
  for _, item in ipairs(items) do
    for role, counts in pairs((item.status or {}).replicaStatuses or {}) do
      totals = totals or {}
      totals[role] = totals[role] or {}
      for _, key in ipairs({ "active", "succeeded", "failed" }) do
        totals[role][key] = (totals[role][key] or 0) + (counts[key] or 0)
      end
    end
  end
  return totals
end

-- A job that has been accepted and has not failed is on its way.
function InterpretHealth(obj)
  return condition(obj.status, "Created").status == "True" and condition(obj.status, "Failed").status ~= "True"
end

function GetComponents(obj)
  local components = {}
  for _, role in ipairs(roles(obj.spec.mpiReplicaSpecs)) do
    local spec = obj.spec.mpiReplicaSpecs[role]
    table.insert(components, {
      name = string.lower(role),
      replicas = spec.replicas or 1,
      replicaRequirements = kube.accuratePodRequirements(spec.template),
    })
  end
  return components
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  status.replicaStatuses = pods(items)
  status.conditions = merged(items, { Succeeded = true })
  status.startTime = status.startTime or (times(items, "startTime"))
  local _, completed = times(items, "completionTime")
  status.completionTime = completed
  obj.status = next(status) and status or nil
  return obj
end

function ReflectStatus(obj)
  return report(obj, { "conditions", "replicaStatuses", "startTime", "completionTime", "lastReconcileTime" })
end
