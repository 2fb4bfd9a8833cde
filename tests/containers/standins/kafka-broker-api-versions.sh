#!/bin/bash
# What brokers can do; fails where they do not answer.
exec java -cp '/opt/kafka/libs/*' org.apache.kafka.tools.BrokerApiVersionsCommand "$@"
