-- CloneSet, apps.kruise.io/v1alpha1: https://openkruise.io/docs/user-manuals/cloneset

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

-- current says whether the status is about the spec as it stands.
local function current(obj)
  return obj.status ~= nil and (obj.status.observedGeneration or 0) == (obj.metadata.generation or 0)
end

local counters = {
  "replicas", "readyReplicas", "availableReplicas", "updatedReplicas",
  "updatedReadyReplicas", "expectedUpdatedReplicas",
}

function GetReplicas(obj)
  return obj.spec.replicas or 1, kube.accuratePodRequirements(obj.spec.template)
end

function ReviseReplica(obj, n)
  if obj.spec.replicas then
    obj.spec.replicas = n
  end
  return obj
end

function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, counters)
  if observed(obj, items) then
    status.observedGeneration = obj.metadata.generation
  end
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  return report(obj, { "observedGeneration", unpack(counters) })
end

-- With a partition, expectedUpdatedReplicas is less than the replicas.
function InterpretHealth(obj)
  local s, wanted = obj.status or {}, obj.spec.replicas or 1
  return current(obj)
    and (s.updatedReplicas or 0) >= (s.expectedUpdatedReplicas or wanted)
    and (s.availableReplicas or 0) >= wanted
end

function GetDependencies(obj)
  return kube.getPodDependencies(obj.spec.template, obj.metadata.namespace)
end
