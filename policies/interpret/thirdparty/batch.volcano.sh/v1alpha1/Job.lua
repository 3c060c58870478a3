-- Job, batch.volcano.sh/v1alpha1: https://volcano.sh/en/docs/vcjob/

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

local counters = {
  "minAvailable", "pending", "running", "succeeded", "failed", "terminating", "unknown", "retryCount",
}

-- tasks adds up the pods of each task by their phase.
local function tasks(items)
  local totals
  for _, item in ipairs(items) do
    for name, task in pairs((item.status or {}).taskStatusCount or {}) do
      totals = totals or {}
      totals[name] = totals[name] or { phase = {} }
      for phase, n in pairs(task.phase or {}) do
        totals[name].phase[phase] = (totals[name].phase[phase] or 0) + n
      end
    end
  end
  return totals
end

-- A Job that waits in its queue, or for a restart, is on its way.
function InterpretHealth(obj)
  local phase = ((obj.status or {}).state or {}).phase
  local good = { Pending = true, Running = true, Restarting = true, Completing = true, Completed = true }
  return good[phase or ""] == true
end

function GetComponents(obj)
  local components = {}
  for i, task in ipairs(obj.spec.tasks or {}) do
    table.insert(components, {
      name = task.name or ("default" .. (i - 1)),
      replicas = task.replicas or 0,
      replicaRequirements = kube.accuratePodRequirements(task.template),
    })
  end
  return components
end

function AggregateStatus(obj, items)
  local status, state = obj.status or {}, {}
  sums(status, items, counters)
  status.taskStatusCount = tasks(items)
  state.phase = worst(items, function(s)
    return (s.state or {}).phase
  end, {
    "Failed", "Terminated", "Terminating", "Aborted", "Aborting", "Restarting",
    "Pending", "", "Running", "Completing", "Completed",
  })
  state.message = said(items, function(s)
    return (s.state or {}).message
  end)
  for _, item in ipairs(items) do
    local one = (item.status or {}).state or {}
    if one.phase == state.phase then
      state.reason = state.reason or one.reason
    end
    if (one.lastTransitionTime or "") > (state.lastTransitionTime or "") then
      state.lastTransitionTime = one.lastTransitionTime
    end
  end
  status.state = next(state) and state or nil
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, { "state", "taskStatusCount", unpack(counters) })
end
