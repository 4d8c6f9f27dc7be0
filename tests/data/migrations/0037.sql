UPDATE answer SET referenced_nodes = '["01HF7YAT00000000000000000C"]';
