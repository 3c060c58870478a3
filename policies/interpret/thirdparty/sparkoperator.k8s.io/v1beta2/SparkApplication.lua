-- SparkApplication, sparkoperator.k8s.io/v1beta2:
-- https://github.com/kubeflow/spark-operator/blob/master/docs/api-docs.md

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

-- mebibytes reads a size as Spark does: without a unit it is one of mebibytes.
local function mebibytes(size)
  local number, unit = string.match(string.lower(size), "^%s*(%d+)([kmgt]?)i?b?%s*$")
  local factor = { k = 1 / 1024, [""] = 1, m = 1, g = 1024, t = 1024 * 1024 }
  if not number then
    error("cannot read the size " .. size)
  end
  return tonumber(number) * factor[unit]
end

-- podMemory is what a pod asks for: the heap, and an overhead of at least 384 MiB that
-- is a tenth of it, or two fifths where most of the work is not done in Java.
local function podMemory(spec, role)
  local heap = mebibytes(role.memory or "1g")
  local java = spec.type ~= "Python" and spec.type ~= "R"
  local factor = tonumber(spec.memoryOverheadFactor) or (java and 0.1 or 0.4)
  local overhead = role.memoryOverhead and mebibytes(role.memoryOverhead) or math.max(math.floor(heap * factor), 384)
  return string.format("%dMi", math.ceil(heap + overhead))
end

-- podNeeds is what the pods of the driver, or of the executors, ask for.
local function podNeeds(spec, role)
  local own = (role.template or {}).spec or {}
  local requests = { cpu = role.coreRequest or tostring(role.cores or 1), memory = podMemory(spec, role) }
  if role.gpu and role.gpu.name then
    requests[role.gpu.name] = tostring(role.gpu.quantity or 0)
  end
  local containers = { { name = "spark", resources = { requests = requests } } }
  for _, c in ipairs(role.sidecars or {}) do
    table.insert(containers, c)
  end
  return kube.accuratePodRequirements({ spec = {
    containers = containers, initContainers = role.initContainers,
    nodeSelector = role.nodeSelector or spec.nodeSelector or own.nodeSelector,
    tolerations = role.tolerations or own.tolerations, affinity = role.affinity or own.affinity,
    priorityClassName = role.priorityClassName or own.priorityClassName,
  } })
end

-- executors is how many the application starts with.
local function executors(spec)
  local dynamic = spec.dynamicAllocation or {}
  local n = spec.executor.instances
  if dynamic.enabled then
    n = math.max(dynamic.initialExecutors or 0, dynamic.minExecutors or 0, n or 0)
  end
  return n or 1
end

local function state(s)
  return (s.applicationState or {}).state
end

-- An application that has been accepted and has not failed is on its way.
function InterpretHealth(obj)
  local good = {
    SUBMITTED = true, RUNNING = true, PENDING_RERUN = true, SUCCEEDING = true, COMPLETED = true,
    SUSPENDED = true, SUSPENDING = true, RESUMING = true,
  }
  return good[state(obj.status or {}) or ""] == true
end

function GetComponents(obj)
  local spec = obj.spec
  return {
    { name = "driver", replicas = 1, replicaRequirements = podNeeds(spec, spec.driver) },
    { name = "executor", replicas = executors(spec), replicaRequirements = podNeeds(spec, spec.executor) },
  }
end

function AggregateStatus(obj, items)
  local status, pods = obj.status or {}, nil
  sums(status, items, { "executionAttempts", "submissionAttempts" })
  for _, item in ipairs(items) do
    for pod, is in pairs((item.status or {}).executorState or {}) do
      pods = pods or {}
      pods[item.clusterName .. "/" .. pod] = is
    end
  end
  status.executorState = pods
  local application = {
    state = worst(items, state, {
      "FAILED", "FAILING", "SUBMISSION_FAILED", "INVALIDATING", "UNKNOWN", "PENDING_RERUN", "SUSPENDED",
      "SUSPENDING", "RESUMING", "SUBMITTED", "RUNNING", "", "SUCCEEDING", "COMPLETED",
    }),
    errorMessage = said(items, function(s)
      return (s.applicationState or {}).errorMessage
    end),
  }
  status.applicationState = next(application) and application or nil
  local _, submitted = times(items, "lastSubmissionAttemptTime")
  local _, terminated = times(items, "terminationTime")
  status.lastSubmissionAttemptTime, status.terminationTime = submitted, terminated
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, {
    "applicationState", "executorState", "executionAttempts", "submissionAttempts",
    "lastSubmissionAttemptTime", "terminationTime",
  })
end
