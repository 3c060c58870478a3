-- RayJob, ray.io/v1: https://ray-project.github.io/kuberay/reference/api/#rayjob

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

-- append adds all of one list to another.
local function append(list, more)
  for _, v in ipairs(more or {}) do
    table.insert(list, v)
  end
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

-- Without a template the operator makes the pod that submits the job itself.
function GetComponents(obj)
  local components, spec = {}, obj.spec
  if spec.rayClusterSpec then
    cluster(components, spec.rayClusterSpec)
  end
  if spec.submitterPodTemplate then
    table.insert(components, {
      name = "ray-submitter", replicas = 1,
      replicaRequirements = kube.accuratePodRequirements(spec.submitterPodTemplate),
    })
  end
  return components
end

-- A job that has been accepted and has not failed is on its way.
function InterpretHealth(obj)
  local s = obj.status or {}
  return s.jobDeploymentStatus ~= nil and s.jobDeploymentStatus ~= "Failed"
    and s.jobStatus ~= "FAILED" and s.jobStatus ~= "STOPPED"
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, { "succeeded", "failed" })
  status.jobStatus = worst(items, function(s)
    return s.jobStatus
  end, { "FAILED", "STOPPED", "RUNNING", "PENDING", "", "SUCCEEDED" })
  status.jobDeploymentStatus = worst(items, function(s)
    return s.jobDeploymentStatus
  end, {
    "Failed", "ValidationFailed", "Retrying", "Suspending", "Suspended", "Running", "Waiting",
    "Initializing", "Scheduling", "Scheduled", "", "Complete",
  })
  status.reason = said(items, function(s)
    return s.reason
  end)
  status.message = said(items, function(s)
    return s.message
  end)
  status.startTime = status.startTime or (times(items, "startTime"))
  local _, ended = times(items, "endTime")
  status.endTime = ended
  obj.status = status
  return obj
end

function GetDependencies(obj)
  local spec, found = obj.spec, {}
  if spec.rayClusterSpec then
    references(found, spec.rayClusterSpec, obj.metadata.namespace)
  end
  if spec.submitterPodTemplate then
    append(found, kube.getPodDependencies(spec.submitterPodTemplate, obj.metadata.namespace))
  end
  return found
end
