-- FlinkDeployment, flink.apache.org/v1beta1:
-- https://nightlies.apache.org/flink/flink-kubernetes-operator-docs-stable/docs/custom-resource/reference/

local kube = require("kube")

-- observed says whether every cluster has acted on the template as it stands.
local function observed(obj, items)
  for _, item in ipairs(items) do
    local s = item.status
    if not s or (s.observedGeneration or 0) < (s.generation or 0)
      or (s.resourceTemplateGeneration or 0) < (obj.metadata.generation or 0) then
      return false
    end
  end
  return true
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

-- memory writes a size as Kubernetes does. In Flink "2048m" are mebibytes, and a
-- number without a unit is bytes.
local function memory(size)
  local number, unit = string.match(string.lower(size), "^%s*(%d+)%s*([kmgt])i?b?%s*$")
  if not number then
    return size
  end
  return number .. ({ k = "Ki", m = "Mi", g = "Gi", t = "Ti" })[unit]
end

-- needs is what the pods of one role ask for: the resource of the role for the
-- container that runs Flink, and what the pod template adds beside it.
local function needs(spec, role)
  local base, own = (spec.podTemplate or {}).spec or {}, (role.podTemplate or {}).spec or {}
  local resource = role.resource or {}
  local containers = { { name = "flink-main-container", resources = { requests = {
    cpu = tostring(resource.cpu or 1),
    memory = resource.memory and memory(resource.memory),
    ["ephemeral-storage"] = resource.ephemeralStorage and memory(resource.ephemeralStorage),
  } } } }
  for _, c in ipairs(own.containers or base.containers or {}) do
    if c.name ~= "flink-main-container" then
      table.insert(containers, c)
    end
  end
  return kube.accuratePodRequirements({ spec = {
    containers = containers, initContainers = own.initContainers or base.initContainers,
    nodeSelector = own.nodeSelector or base.nodeSelector, tolerations = own.tolerations or base.tolerations,
    affinity = own.affinity or base.affinity, priorityClassName = own.priorityClassName or base.priorityClassName,
  } })
end

-- taskManagers is how many there are. Unless it is said, a job has as many as give
-- its parallelism a slot each, and a session in native mode starts with none.
local function taskManagers(spec)
  local replicas = (spec.taskManager or {}).replicas
  if replicas then
    return replicas
  end
  if not spec.job then
    return spec.mode == "standalone" and 1 or 0
  end
  local slots = tonumber((spec.flinkConfiguration or {})["taskmanager.numberOfTaskSlots"]) or 1
  return math.ceil((spec.job.parallelism or 1) / slots)
end

local function jobState(s)
  return (s.jobStatus or {}).state
end

-- A deployment is healthy if it is stable and its job has not failed, or if it is
-- suspended and should be.
function InterpretHealth(obj)
  local s, job = obj.status or {}, obj.spec.job or {}
  if s.observedGeneration and s.observedGeneration < (obj.metadata.generation or 0) then
    return false
  end
  return (s.lifecycleState == "STABLE" and jobState(s) ~= "FAILED")
    or (s.lifecycleState == "SUSPENDED" and job.state == "suspended")
end

function GetComponents(obj)
  local jobManager, taskManager = obj.spec.jobManager or {}, obj.spec.taskManager or {}
  return {
    { name = "jobmanager", replicas = jobManager.replicas or 1, replicaRequirements = needs(obj.spec, jobManager) },
    { name = "taskmanager", replicas = taskManagers(obj.spec), replicaRequirements = needs(obj.spec, taskManager) },
  }
end

function GetReplicas(obj)
  local jobManager, taskManager = obj.spec.jobManager or {}, obj.spec.taskManager or {}
  return (jobManager.replicas or 1) + taskManagers(obj.spec),
    largest({ needs(obj.spec, jobManager), needs(obj.spec, taskManager) })
end

function AggregateStatus(obj, items)
  local status, replicas = obj.status or {}, 0
  for _, item in ipairs(items) do
    replicas = replicas + (((item.status or {}).taskManager or {}).replicas or 0)
  end
  status.taskManager = { replicas = replicas }
  status.lifecycleState = worst(items, function(s)
    return s.lifecycleState
  end, {
    "FAILED", "ROLLING_BACK", "ROLLED_BACK", "UPGRADING", "SUSPENDED", "CREATED", "DEPLOYED", "", "DELETED", "STABLE",
  })
  status.jobManagerDeploymentStatus = worst(items, function(s)
    return s.jobManagerDeploymentStatus
  end, { "ERROR", "MISSING", "DEPLOYING", "DEPLOYED_NOT_READY", "", "READY" })
  local state = worst(items, jobState, {
    "FAILED", "FAILING", "RESTARTING", "CANCELED", "CANCELLING", "SUSPENDED", "RECONCILING",
    "INITIALIZING", "CREATED", "", "RUNNING", "FINISHED",
  })
  status.jobStatus = state and { state = state } or nil
  status.error = said(items, function(s)
    return s.error
  end)
  if observed(obj, items) then
    status.observedGeneration = obj.metadata.generation
  end
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, {
    "observedGeneration", "lifecycleState", "jobManagerDeploymentStatus", "jobStatus", "taskManager", "error",
  })
end
