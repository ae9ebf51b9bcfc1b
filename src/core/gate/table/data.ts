import type { Listed } from "../record.ts";

/** Databases, containers, clusters and clouds: what they hold is outside of the workspace. */
export const DATA: Listed[] = [
  {
    names: "docker, podman, kubectl, helm, terraform, psql, mysql, sqlite3, redis-cli, gh, aws, gcloud, az, nginx",
    options: "--version -v -V --client",
    operands: "none",
    must: "--version -v -V",
  },
  { names: "kubectl version", options: "--client --output= -o= --short", operands: "none", must: "--client" },
  { names: "helm version, helm env", options: "--client --short", operands: "none" },
  {
    names: "kubectl kustomize, kustomize build",
    options: "-o=out --output=out",
    operands: "names",
    writes: true,
    like: /^(?!.*(?::|github\.com|git@))/,
  },
  { names: "docker version, podman version", options: "", operands: "none", asks: ["service", "asks the container engine"] },
  {
    names:
      "psql, pg_dump, pg_restore, pg_dumpall, createdb, dropdb, createuser, pg_ctl, initdb, pgbench, mysql, mysqldump, mysqladmin, mariadb, mariadb-dump, mongosh, mongo, mongodump, mongorestore, mongod, redis-cli, redis-server, cqlsh, influx, clickhouse-client, clickhouse, sqlcmd, sqlplus, cockroach, duckdb, neo4j, etcdctl, rabbitmqctl, kafka-topics, kafka-console-producer, memcached, litecli, pgcli, mycli, usql, flyway, liquibase, dbmate, goose, migrate",
    asks: ["service", "works on a database"],
  },
  { names: "sqlite3", asks: ["interp", "works on a database, and may run commands (`.shell`)"] },
  {
    names:
      "docker push, docker pull, docker login, docker logout, docker search, podman push, podman pull, podman login, docker manifest, docker scout",
    asks: ["network", "reaches an image registry"],
  },
  {
    names: "docker build, docker buildx, docker image, podman build, buildah, skopeo, kaniko, nerdctl build, docker builder",
    asks: ["service", "builds or changes images, which runs commands and reaches the network"],
  },
  {
    names:
      "docker rm, docker rmi, docker system, docker volume, docker network, docker container, docker prune, podman rm, podman rmi, podman system, podman volume",
    asks: ["service", "deletes or changes containers, images or volumes"],
  },
  {
    names:
      "docker, docker-compose, podman, podman-compose, nerdctl, ctr, crictl, lima, limactl, colima, multipass, vagrant, packer, lxc, lxd, incus, virsh, qemu-system-x86_64, VBoxManage, minikube, kind, k3d, k3s, devcontainer, act, distrobox, toolbox, flatpak-spawn",
    asks: ["service", "works with containers or machines beside the workspace"],
  },
  {
    names: "helm lint, helm template",
    options: "-f=path --values=path --set= --strict --debug --namespace= -n= --quiet",
    operands: "names",
    writes: true,
  },
  { names: "helm", asks: ["network", "reaches a cluster or a chart repository"] },
  {
    names:
      "kubectl, k9s, kustomize, oc, eksctl, argocd, flux, istioctl, linkerd, velero, kubens, kubectx, stern, skaffold, tilt, okteto, telepresence",
    asks: ["network", "reaches a cluster"],
  },
  {
    names: "terraform fmt, terraform validate, terraform version, tofu fmt, tofu validate, tofu version",
    options: "-check -recursive -diff -write= -list= -json -no-color -no-tests",
    operands: "writes",
    writes: true,
    single: true,
  },
  {
    names:
      "terraform, tofu, terragrunt, pulumi, cdktf, ansible, ansible-playbook, ansible-galaxy, ansible-vault, chef, puppet, salt, nomad, consul, vault, boundary, waypoint",
    asks: ["network", "reaches providers and machines"],
  },
  {
    names:
      "aws, gcloud, gsutil, bq, az, azcopy, doctl, linode-cli, hcloud, oci, ibmcloud, s3cmd, rclone, restic, borg, b2, mc, cf, copilot, sam, amplify, eb, supabase, planetscale, pscale, neonctl, turso",
    asks: ["network", "reaches a cloud"],
  },
];
