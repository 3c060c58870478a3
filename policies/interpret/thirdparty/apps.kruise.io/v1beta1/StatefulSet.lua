-- StatefulSet, apps.kruise.io/v1beta1: https://openkruise.io/docs/user-manuals/advancedstatefulset

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
  "replicas", "readyReplicas", "availableReplicas", "currentReplicas", "updatedReplicas", "updatedReadyReplicas",
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

-- A partition is the number of pods that keep the old version.
function InterpretHealth(obj)
  local s, wanted = obj.status or {}, obj.spec.replicas or 1
  local kept = ((obj.spec.updateStrategy or {}).rollingUpdate or {}).partition
  return current(obj)
    and (s.updatedReplicas or 0) >= wanted - (type(kept) == "number" and kept or 0)
    and (s.availableReplicas or 0) >= wanted
end

-- The claims that the StatefulSet makes itself are not needed beside it.
function GetDependencies(obj)
  local own, found = {}, {}
  for _, claim in ipairs(obj.spec.volumeClaimTemplates or {}) do
    own[(claim.metadata or {}).name or ""] = true
  end
  for _, d in ipairs(kube.getPodDependencies(obj.spec.template, obj.metadata.namespace) or {}) do
    if d.kind ~= "PersistentVolumeClaim" or not own[d.name] then
      table.insert(found, d)
    end
  end
  return found
end
