hsumma profile 1
# Nodes with two Haswell Xeons and Omni-Path, cluster C. The figures are assumptions, for the figures of the paper on DPML.
# One process fills the link of a node, as in Figure 1 of the paper (zone C). Inside a node: as dpml_infiniband.profile.
network.alpha_s 1.1e-6
network.beta_s_per_byte 8.7e-11
inject_s_per_byte 8.7e-11
shm.alpha_s 2e-7
shm.beta_s_per_byte 1.7e-10
gamma_s_per_byte 2e-10
# messages inside a socket and between sockets
socket.alpha_s 2.5e-7
socket.beta_s_per_byte 1.7e-10
node.alpha_s 6e-7
node.beta_s_per_byte 2.5e-10
end
