-- Workflow, argoproj.io/v1alpha1: https://argo-workflows.readthedocs.io/en/latest/fields/

local kube = require("kube")

-- need adds a reference to a list, unless it has no name.
local function need(list, apiVersion, kind, namespace, name)
  if name and name ~= "" then
    table.insert(list, { apiVersion = apiVersion, kind = kind, namespace = namespace, name = name })
  end
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

-- pod is the template of the pod that a step runs in.
local function pod(spec, step)
  local containers = {}
  append(containers, { step.container or step.script })
  append(containers, (step.containerSet or {}).containers)
  append(containers, step.sidecars)
  local volumes = {}
  append(volumes, spec.volumes)
  append(volumes, step.volumes)
  return { spec = {
    containers = containers[1] and containers, initContainers = step.initContainers, volumes = volumes[1] and volumes,
    serviceAccountName = step.serviceAccountName or spec.serviceAccountName,
    imagePullSecrets = spec.imagePullSecrets,
    nodeSelector = step.nodeSelector or spec.nodeSelector,
    tolerations = step.tolerations or spec.tolerations,
    affinity = step.affinity or spec.affinity,
  } }
end

-- locks are the ConfigMaps that say how many may run at a time.
local function locks(list, obj, synchronization)
  local all, namespace = {}, obj.metadata.namespace
  append(all, { (synchronization or {}).semaphore })
  append(all, (synchronization or {}).semaphores)
  for _, s in ipairs(all) do
    need(list, "v1", "ConfigMap", s.namespace or namespace, (s.configMapKeyRef or {}).name)
  end
end

-- template adds a shared template that is referred to by a name.
local function template(list, obj, ref)
  if ref and ref.clusterScope then
    need(list, obj.apiVersion, "ClusterWorkflowTemplate", nil, ref.name)
  elseif ref then
    need(list, obj.apiVersion, "WorkflowTemplate", obj.metadata.namespace, ref.name)
  end
end

-- The parallelism is the number of pods at a time. A Workflow without one has no
-- bound, and counts as one.
function GetReplicas(obj)
  local needs = {}
  for _, step in ipairs(obj.spec.templates or {}) do
    local made = pod(obj.spec, step)
    if made.spec.containers then
      append(needs, { kube.accuratePodRequirements(made) })
    end
  end
  return obj.spec.parallelism or 1, largest(needs)
end

function ReviseReplica(obj, n)
  obj.spec.parallelism = n
  return obj
end

function InterpretHealth(obj)
  local phase = (obj.status or {}).phase
  return phase == "Pending" or phase == "Running" or phase == "Succeeded"
end

-- The controller keeps the status in the object itself, which has no status
-- subresource; people pause and stop a Workflow in its cluster.
function Retain(desired, observed)
  desired.status = observed.status
  for _, key in ipairs({ "suspend", "shutdown" }) do
    if observed.spec and desired.spec[key] == nil then
      desired.spec[key] = observed.spec[key]
    end
  end
  return desired
end

function GetDependencies(obj)
  local spec, namespace, found = obj.spec, obj.metadata.namespace, {}
  append(found, kube.getPodDependencies(pod(spec, {}), namespace))
  need(found, "v1", "ServiceAccount", namespace, (spec.executor or {}).serviceAccountName)
  need(found, "v1", "ConfigMap", namespace, (spec.artifactRepositoryRef or {}).configMap)
  template(found, obj, spec.workflowTemplateRef)
  locks(found, obj, spec.synchronization)
  for _, parameter in ipairs((spec.arguments or {}).parameters or {}) do
    need(found, "v1", "ConfigMap", namespace, ((parameter.valueFrom or {}).configMapKeyRef or {}).name)
  end
  for _, step in ipairs(spec.templates or {}) do
    append(found, kube.getPodDependencies(pod(spec, step), namespace))
    locks(found, obj, step.synchronization)
    for _, task in ipairs((step.dag or {}).tasks or {}) do
      template(found, obj, task.templateRef)
    end
    for _, parallel in ipairs(step.steps or {}) do
      for _, one in ipairs(parallel) do
        template(found, obj, one.templateRef)
      end
    end
  end
  return found
end
