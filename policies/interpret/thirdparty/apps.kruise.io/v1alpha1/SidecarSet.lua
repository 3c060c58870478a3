-- SidecarSet, apps.kruise.io/v1alpha1: https://openkruise.io/docs/user-manuals/sidecarset

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

-- append adds all of one list to another.
local function append(list, more)
  for _, v in ipairs(more or {}) do
    table.insert(list, v)
  end
end

local counters = { "matchedPods", "updatedPods", "readyPods", "updatedReadyPods" }
local hashes = { "kruise.io/sidecarset-hash", "kruise.io/sidecarset-hash-without-image" }

function ReflectStatus(obj)
  return report(obj, { "observedGeneration", unpack(counters) })
end

-- A SidecarSet has no pods of its own: it goes to every cluster.
function GetReplicas(obj)
  return 0
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

-- The webhook of the cluster notes on the object what it has seen of it.
function Retain(desired, observed)
  local noted = observed.metadata.annotations or {}
  for _, key in ipairs(hashes) do
    if noted[key] then
      desired.metadata.annotations = desired.metadata.annotations or {}
      desired.metadata.annotations[key] = noted[key]
    end
  end
  return desired
end

function InterpretHealth(obj)
  local s, strategy = obj.status or {}, obj.spec.updateStrategy or {}
  local updates = strategy.type ~= "NotUpdate" and not strategy.paused and not strategy.selector
    and (strategy.partition or 0) == 0
  return current(obj)
    and (s.updatedReadyPods or 0) >= (s.updatedPods or 0)
    and (not updates or (s.updatedPods or 0) >= (s.matchedPods or 0))
end

-- The containers run in other namespaces: those that the object names.
function GetDependencies(obj)
  local spec, namespaces, found = obj.spec, {}, {}
  append(namespaces, (spec.namespaceSelector or {}).namespaces)
  append(namespaces, { spec.namespace })
  local template = { spec = {
    containers = spec.containers, initContainers = spec.initContainers,
    volumes = spec.volumes, imagePullSecrets = spec.imagePullSecrets,
  } }
  for _, namespace in ipairs(namespaces) do
    append(found, kube.getPodDependencies(template, namespace))
  end
  return found
end
