{{- define "waybill.name" -}}
{{- if contains "waybill" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-waybill" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "waybill.selector" -}}
app.kubernetes.io/name: waybill
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "waybill.labels" -}}
{{ include "waybill.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "waybill.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "waybill.managementNamespace" -}}
{{- .Values.managementNamespace | default .Release.Namespace }}
{{- end }}

{{/* Whether the controller asks the cluster that it runs in for something. */}}
{{- define "waybill.managed" -}}
{{- if or .Values.apply.secrets .Values.apply.sopsSecret .Values.events (gt (int .Values.replicas) 1) }}yes{{ end }}
{{- end }}

{{/* Whether a repository is reached over SSH. */}}
{{- define "waybill.ssh" -}}
{{- if hasPrefix "ssh://" . }}yes{{ end }}
{{- end }}
