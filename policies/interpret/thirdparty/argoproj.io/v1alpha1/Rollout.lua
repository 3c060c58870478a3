-- Rollout, argoproj.io/v1alpha1: https://argo-rollouts.readthedocs.io/en/stable/features/specification/

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

-- need adds a reference to a list, unless it has no name.
local function need(list, apiVersion, kind, namespace, name)
  if name and name ~= "" then
    table.insert(list, { apiVersion = apiVersion, kind = kind, namespace = namespace, name = name })
  end
end

local counters = { "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "HPAReplicas" }

-- analyses adds the templates that an analysis is made of.
local function analyses(list, obj, analysis)
  for _, t in ipairs((analysis or {}).templates or {}) do
    if t.clusterScope then
      need(list, obj.apiVersion, "ClusterAnalysisTemplate", nil, t.templateName)
    else
      need(list, obj.apiVersion, "AnalysisTemplate", obj.metadata.namespace, t.templateName)
    end
  end
end

-- The pods of a Rollout with a workloadRef are those of another object.
function GetReplicas(obj)
  if not obj.spec.template then
    return obj.spec.replicas or 1
  end
  return obj.spec.replicas or 1, kube.accuratePodRequirements(obj.spec.template)
end

function ReviseReplica(obj, n)
  if obj.spec.replicas then
    obj.spec.replicas = n
  end
  return obj
end

-- A Rollout writes the generation that it has observed as a string.
function AggregateStatus(obj, items)
  local status = obj.status or {}
  sums(status, items, counters)
  if observed(obj, items) and obj.metadata.generation then
    status.observedGeneration = string.format("%d", obj.metadata.generation)
  end
  status.phase = worst(items, function(s)
    return s.phase
  end, { "Degraded", "Progressing", "", "Paused", "Healthy" })
  status.message = said(items, function(s)
    return s.message
  end)
  status.conditions = merged(items, { Available = true, Healthy = true, Completed = true })
  obj.status = status
  return obj
end

function ReflectStatus(obj)
  local picked = report(obj, { "phase", "message", "conditions", unpack(counters) })
  if picked then
    picked.observedGeneration = tonumber(obj.status.observedGeneration)
  end
  return picked
end

-- A Rollout that waits for a promotion has all its pods.
function InterpretHealth(obj)
  local s = obj.status or {}
  return tonumber(s.observedGeneration) == obj.metadata.generation and (s.phase == "Healthy" or s.phase == "Paused")
end

function GetDependencies(obj)
  local spec, namespace, found = obj.spec, obj.metadata.namespace, {}
  if spec.template then
    found = kube.getPodDependencies(spec.template, namespace) or {}
  end
  local ref = spec.workloadRef or {}
  need(found, ref.apiVersion, ref.kind, namespace, ref.name)
  local canary, blueGreen = (spec.strategy or {}).canary or {}, (spec.strategy or {}).blueGreen or {}
  for _, name in ipairs({ canary.stableService or "", canary.canaryService or "",
    blueGreen.activeService or "", blueGreen.previewService or "" }) do
    need(found, "v1", "Service", namespace, name)
  end
  analyses(found, obj, canary.analysis)
  for _, step in ipairs(canary.steps or {}) do
    analyses(found, obj, step.analysis)
  end
  analyses(found, obj, blueGreen.prePromotionAnalysis)
  analyses(found, obj, blueGreen.postPromotionAnalysis)
  return found
end
